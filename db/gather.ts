/**
 * Many who ask at the same moment are answered together: what comes while answers are under way waits for them and goes
 * with the next. So a round trip serves one when there is little to do, and hundreds when there is much; nobody waits
 * for a clock, and nothing is older than its question. Those of different tenants never go together.
 */
export function gather<Ask, Answer>(
  answer: (tenantId: string, asked: Asked<Ask, Answer>[]) => Promise<void>,
  limits: { underWay: number; together: number },
): (tenantId: string, ask: Ask) => Promise<Answer> {
  const lines = new Map<string, Line<Ask, Answer>>();

  async function send(tenantId: string, line: Line<Ask, Answer>) {
    line.scheduled = false;
    const asked = line.waiting.splice(0, limits.together);
    line.underWay++;
    schedule(tenantId, line);
    try {
      await answer(tenantId, asked);
    } catch (error) {
      // Who was answered before it failed keeps his answer.
      for (const { reject } of asked) reject(error);
    }
    line.underWay--;
    if (line.underWay === 0 && line.waiting.length === 0) lines.delete(tenantId);
    else schedule(tenantId, line);
  }

  /** Once all that has arrived by now is read from its connections: what came together goes together. */
  function schedule(tenantId: string, line: Line<Ask, Answer>) {
    if (line.scheduled || line.waiting.length === 0 || line.underWay >= limits.underWay) return;
    line.scheduled = true;
    setImmediate(send, tenantId, line);
  }

  return (tenantId, ask) =>
    new Promise((resolve, reject) => {
      let line = lines.get(tenantId);
      if (!line) {
        line = { waiting: [], underWay: 0, scheduled: false };
        lines.set(tenantId, line);
      }
      line.waiting.push({ ask, resolve, reject });
      schedule(tenantId, line);
    });
}

export interface Asked<Ask, Answer> {
  ask: Ask;
  resolve: (answer: Answer) => void;
  reject: (error: unknown) => void;
}

/** Of one tenant. */
interface Line<Ask, Answer> {
  waiting: Asked<Ask, Answer>[];
  underWay: number;
  scheduled: boolean;
}
