/**
 * Many who ask at the same moment are answered together: what comes while answers are under way waits for them and goes
 * with the next. So a round trip serves one when there is little to do, and hundreds when there is much; nobody waits
 * for a clock, and nothing is older than its question.
 */
export function gather<Ask, Answer>(
  answer: (asked: Asked<Ask, Answer>[]) => Promise<void>,
  { underWay: most, together }: { underWay: number; together: number },
): (ask: Ask) => Promise<Answer> {
  let waiting: Asked<Ask, Answer>[] = [];
  let underWay = 0;
  let scheduled = false;

  async function send() {
    scheduled = false;
    if (waiting.length === 0) return;
    const asked = waiting.slice(0, together);
    waiting = waiting.slice(together);
    underWay++;
    schedule();
    try {
      await answer(asked);
    } catch (error) {
      // Who was answered before it failed keeps his answer.
      for (const { reject } of asked) reject(error);
    }
    underWay--;
    schedule();
  }

  /** Once all that has arrived by now is read from its connections: what came together goes together. */
  function schedule() {
    if (scheduled || waiting.length === 0 || underWay >= most) return;
    scheduled = true;
    setImmediate(send);
  }

  return (ask) =>
    new Promise((resolve, reject) => {
      waiting.push({ ask, resolve, reject });
      schedule();
    });
}

export interface Asked<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}
