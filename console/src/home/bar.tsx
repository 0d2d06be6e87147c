import { useTexts } from '../language.ts';
import { homeTexts } from './texts.ts';

interface Props {
  name: string;
  /** Null: nobody counts it. */
  used: number | null;
  /** Below 0: no limit. */
  total: number;
}

/** How much of a limit is used. What nearly runs out says so in words too, not by its colour alone. */
export function Bar({ name, used, total }: Props) {
  const t = useTexts(homeTexts);
  const number = (value: number) => value.toLocaleString();
  const measured = used !== null && total > 0;
  const share = measured ? Math.min(1, used / total) : 0;
  const state = used === null || total < 0 ? '' : used >= total ? 'up' : share >= 0.8 ? 'nearly' : '';
  const text =
    used === null
      ? t.only(number(total))
      : total < 0
        ? t.noLimit(number(used))
        : t.of(number(used), number(total)) +
          (state === 'up' ? ` ${t.usedUp}` : state === 'nearly' ? ` ${t.nearly}` : '');
  return (
    <div className="home-bar">
      <span>{name}</span>
      <span className={state ? 'home-warning' : 'quiet'}>{text}</span>
      {measured && (
        // biome-ignore lint/a11y/useSemanticElements: each browser draws <meter> in its own way
        <div
          role="meter"
          aria-label={name}
          aria-valuemin={0}
          aria-valuemax={total}
          aria-valuenow={Math.min(used, total)}
          aria-valuetext={text}
          className="home-track"
        >
          <div className={`home-fill ${state}`} style={{ width: `${share * 100}%` }} />
        </div>
      )}
    </div>
  );
}
