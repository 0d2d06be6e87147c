import assert from 'node:assert/strict';

/** One line of Prometheus's text format. */
export interface Sample {
  name: string;
  labels: Record<string, string>;
  value: number;
}

/** The metrics of a scrape. */
export class Scraped {
  readonly text: string;
  readonly samples: Sample[];
  /** The type of each metric, by its name. */
  readonly types: Map<string, string>;

  constructor(text: string) {
    this.text = text;
    const lines = text.split('\n').filter((line) => line !== '');
    this.samples = lines.filter((line) => !line.startsWith('#')).map(parseSample);
    const typeLines = lines.flatMap((line) => (line.startsWith('# TYPE ') ? [line.split(' ')] : []));
    this.types = new Map(typeLines.map(([, , name = '', type = '']) => [name, type]));
  }

  /** Returns the sum of all series of a metric with these labels, or undefined if no series has them. */
  sum(name: string, labels: Record<string, string> = {}): number | undefined {
    const matching = this.samples.filter(
      (sample) => sample.name === name && Object.entries(labels).every(([key, value]) => sample.labels[key] === value),
    );
    return matching.length > 0 ? matching.reduce((sum, { value }) => sum + value, 0) : undefined;
  }

  /** Returns by how much that sum has grown since an earlier scrape. */
  growth(earlier: Scraped, name: string, labels: Record<string, string> = {}): number {
    return (this.sum(name, labels) ?? 0) - (earlier.sum(name, labels) ?? 0);
  }

  /** Returns the names of a metric's labels, without the `le` of histograms. */
  labelsOf(metric: string): string[] {
    const ofMetric = this.samples.filter(
      ({ name }) => name.replace(/_(bucket|sum|count)$/, '') === metric || name === metric,
    );
    return [...new Set(ofMetric.flatMap(({ labels }) => Object.keys(labels)))].filter((label) => label !== 'le').sort();
  }
}

function parseSample(line: string): Sample {
  const [, name = '', labels = '', value = ''] = /^([\w:]+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? assert.fail(line);
  const pairs = [...labels.matchAll(/(\w+)="((?:[^"\\]|\\.)*)"/g)].map(([, key, text]) => [key, text]);
  return { name, labels: Object.fromEntries(pairs), value: Number(value.replace('Nan', 'NaN')) };
}

/** Scrapes metrics over a separate connection, as Prometheus may. */
export async function scrape(base: string): Promise<Scraped> {
  const response = await fetch(`${base}/metrics`, { headers: { connection: 'close' } });
  assert.equal(response.status, 200);
  assert.equal(response.headers.get('content-type'), 'text/plain; version=0.0.4; charset=utf-8');
  return new Scraped(await response.text());
}

export const DURATIONS = 'http_server_request_duration_seconds';
