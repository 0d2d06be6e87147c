/** One line of a log-log chart of cost by size. */
export interface Series {
  name: string;
  colour: string;
  /** Pairs of size and cost. */
  points: [number, number][];
}

const [WIDTH, HEIGHT, LEFT, BOTTOM, TITLE, RIGHT] = [720, 400, 70, 50, 40, 40];
/** The height of one legend line above the chart. */
const LEGEND_LINE = 18;

/** Draws a log-log chart as SVG, with one line for each series. */
export function plot(title: string, xLabel: string, yLabel: string, series: Series[]): string {
  const TOP = TITLE + series.length * LEGEND_LINE + 14;
  const points = series.flatMap((line) => line.points);
  const range = (axis: 0 | 1) => {
    const powers = points.map((point) => Math.log10(point[axis]));
    return [Math.floor(Math.min(...powers)), Math.ceil(Math.max(...powers))] as const;
  };
  const [x0, x1] = range(0);
  const [y0, y1] = range(1);
  const x = (size: number) => LEFT + ((Math.log10(size) - x0) / (x1 - x0 || 1)) * (WIDTH - LEFT - RIGHT);
  const y = (cost: number) => HEIGHT - BOTTOM - ((Math.log10(cost) - y0) / (y1 - y0 || 1)) * (HEIGHT - BOTTOM - TOP);
  const powers = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, n) => 10 ** (from + n));
  const text = (px: number, py: number, content: string, anchor = 'middle', fill = '#555') =>
    `<text x="${px.toFixed(1)}" y="${py.toFixed(1)}" text-anchor="${anchor}" fill="${fill}">${content}</text>`;
  const line = (fromX: number, fromY: number, toX: number, toY: number) =>
    `<line x1="${fromX.toFixed(1)}" y1="${fromY.toFixed(1)}" x2="${toX.toFixed(1)}" y2="${toY.toFixed(1)}" stroke="#ddd"/>`;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" font-family="sans-serif" font-size="13">`,
    `<title>${title}</title>`,
    `<rect width="${WIDTH}" height="${HEIGHT}" fill="white"/>`,
    text(WIDTH / 2, 24, title, 'middle', '#111'),
    ...powers(x0, x1).flatMap((size) => [
      line(x(size), TOP, x(size), HEIGHT - BOTTOM),
      text(x(size), HEIGHT - BOTTOM + 20, size.toLocaleString('en')),
    ]),
    ...powers(y0, y1).flatMap((cost) => [
      line(LEFT, y(cost), WIDTH - RIGHT, y(cost)),
      text(LEFT - 8, y(cost) + 4, String(cost), 'end'),
    ]),
    text(WIDTH / 2, HEIGHT - 10, xLabel),
    text(LEFT - 8, TOP - 14, yLabel, 'end'),
    ...series.flatMap(({ name, colour, points }, n) => [
      `<polyline fill="none" stroke="${colour}" stroke-width="2" points="${points.map(([size, cost]) => `${x(size).toFixed(1)},${y(cost).toFixed(1)}`).join(' ')}"/>`,
      ...points.map(
        ([size, cost]) => `<circle cx="${x(size).toFixed(1)}" cy="${y(cost).toFixed(1)}" r="4" fill="${colour}"/>`,
      ),
      text(LEFT, TITLE + (n + 0.5) * LEGEND_LINE, `— ${name}`, 'start', colour),
    ]),
    '</svg>',
    '',
  ].join('\n');
}
