import { useTexts } from '../language.ts';
import { homeTexts } from './texts.ts';

interface Props {
  name: string;
  /** Null if usage is not counted. */
  used: number | null;
  /** Negative if there is no limit. */
  total: number;
}

/** How much of a limit is used. A limit that is nearly reached is stated in words too, not by colour alone. */
export function UsageMeter({ name, used, total }: Props) {
  const t = useTexts(homeTexts);
  const format = (value: number) => value.toLocaleString();
  const hasMeter = used !== null && total > 0;
  const share = hasMeter ? Math.min(1, used / total) : 0;
  const state = used === null || total < 0 ? '' : used >= total ? 'full' : share >= 0.8 ? 'nearly-full' : '';
  const text =
    used === null
      ? t.limitOnly(format(total))
      : total < 0
        ? t.unlimited(format(used))
        : t.usedOf(format(used), format(total)) +
          (state === 'full' ? ` ${t.usedUp}` : state === 'nearly-full' ? ` ${t.nearlyUsedUp}` : '');
  return (
    <div className="home-usage">
      <span>{name}</span>
      <span className={state ? 'home-warning' : 'secondary'}>{text}</span>
      {hasMeter && (
        // biome-ignore lint/a11y/useSemanticElements: <meter> cannot be styled consistently across browsers
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={Math.min(used, total)}
          aria-valuetext={text}
          className="home-usage-track"
        >
          <div className={`home-usage-fill ${state}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  );
}
