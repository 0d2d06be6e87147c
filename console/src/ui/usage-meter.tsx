import { useTexts } from '../language.ts';
import { usageTexts } from './usage-texts.ts';

interface Props {
  name: string;
  /** Null if usage is not counted. */
  used: number | null;
  /** Negative if there is no limit. */
  total: number;
  /** What is reserved counts like what is used, in a lighter colour. */
  reserved?: number;
  /** The name is only read aloud, because it is shown next to the meter. */
  hidesName?: boolean;
}

/** How much of a limit is used. A limit that is nearly reached is stated in words too, not by colour alone. */
export function UsageMeter({ name, used, total, reserved = 0, hidesName = false }: Props) {
  const t = useTexts(usageTexts);
  const format = (value: number) => value.toLocaleString();
  const hasMeter = used !== null && total > 0;
  const taken = (used ?? 0) + reserved;
  const share = (value: number) => (hasMeter ? Math.min(1, value / total) : 0);
  const isLimited = used !== null && total >= 0 && (total > 0 || taken > 0);
  const state = !isLimited ? '' : taken >= total ? 'full' : share(taken) >= 0.8 ? 'nearly-full' : '';
  const text =
    used === null
      ? t.limitOnly(format(total))
      : total < 0
        ? t.unlimited(format(used))
        : !isLimited
          ? t.notAssigned
          : t.usedOf(format(used), format(total)) +
            (state === 'full' ? ` ${t.usedUp}` : state === 'nearly-full' ? ` ${t.nearlyUsedUp}` : '');
  return (
    <div className="usage">
      {!hidesName && <span>{name}</span>}
      <span className={state === 'full' ? 'usage-danger' : state ? 'usage-warning' : 'secondary'}>{text}</span>
      {hasMeter && (
        // biome-ignore lint/a11y/useSemanticElements: <meter> cannot be styled consistently across browsers
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={Math.min(used, total)}
          aria-valuetext={text}
          className="usage-track"
        >
          <div className={`usage-fill ${state}`} style={{ width: `${share(used) * 100}%` }} />
          {reserved > 0 && (
            <div className="usage-reserved" style={{ width: `${(share(taken) - share(used)) * 100}%` }} />
          )}
        </div>
      )}
    </div>
  );
}
