import type { Webhook, WebhookInput } from '../api.ts';
import type { Versioned } from '../request.ts';

export interface WebhookValues {
  name?: string;
  url: string;
  kinds: string[];
  below: boolean;
  status: '0' | '1';
  /** The version that the form was filled with. It has no input field. */
  etag?: string;
}

/** The name, or the host of the URL for a webhook without one. */
export function getWebhookName({ name, url }: Pick<Webhook, 'name' | 'url'>): string {
  return name || (URL.canParse(url) ? new URL(url).host : url);
}

export const toFormValues = ({ data, etag }: Versioned<Webhook>): WebhookValues => ({
  name: data.name,
  url: data.url,
  kinds: data.kinds,
  below: data.below,
  status: data.status,
  etag,
});

/** Returns all fields that an update replaces. */
export const toInput = ({ name, url, kinds, status }: WebhookValues): WebhookInput & Pick<Webhook, 'name'> => ({
  name: name?.trim() ?? '',
  url: url.trim(),
  kinds,
  status,
});

type Labels = Record<'name' | 'url' | 'kinds' | 'status' | 'normal' | 'disabled' | 'none', string>;

/** The fields that differ, with labels and display values. */
export function compareValues(
  theirs: WebhookValues,
  mine: WebhookValues,
  t: Labels,
  formatKinds: (kinds: string[]) => string,
) {
  const format = (values: WebhookValues) => [
    { field: t.name, text: values.name },
    { field: t.url, text: values.url },
    { field: t.kinds, text: formatKinds(values.kinds) },
    { field: t.status, text: values.status === '0' ? t.normal : t.disabled },
  ];
  const mineFormatted = format(mine);
  return format(theirs).flatMap(({ field, text }, index) => {
    const [theirText, myText] = [text || t.none, mineFormatted[index]?.text || t.none];
    return theirText === myText ? [] : [{ field, theirs: theirText, mine: myText }];
  });
}
