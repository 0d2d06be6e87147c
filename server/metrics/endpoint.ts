import { once } from 'node:events';
import http from 'node:http';
import type { AddressInfo } from 'node:net';
import { StartupError } from '../../db/startup-error.ts';
import { CONTENT_TYPE, type Scrape } from './scraping.ts';

/** A server for metrics only (BANYAN_METRICS_PORT). */
export interface MetricsEndpoint {
  port: number;
  close(): void;
}

/** Few programs scrape; others must not take all of the file descriptors. */
const MAX_CONNECTIONS = 50;

export async function serveMetrics(
  { metricsPort, host }: { metricsPort: number; host: string },
  scrape: Scrape,
): Promise<MetricsEndpoint> {
  const server = http.createServer({ requestTimeout: 10_000 }, async (request, response) => {
    const isRead = request.method === 'GET' || request.method === 'HEAD';
    if (!isRead || request.url?.split('?')[0] !== '/metrics') {
      response.writeHead(isRead ? 404 : 405, { allow: 'GET, HEAD' }).end();
      return;
    }
    try {
      const text = await scrape();
      response.writeHead(200, { 'content-type': CONTENT_TYPE, 'content-length': Buffer.byteLength(text) });
      response.end(request.method === 'HEAD' ? undefined : text);
    } catch {
      response.writeHead(503).end();
    }
  });
  server.maxConnections = MAX_CONNECTIONS;
  server.listen(metricsPort, host);
  await once(server, 'listening').catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EADDRINUSE' && error.code !== 'EACCES') throw error;
    const problem = error.code === 'EACCES' ? 'may not be used by this user' : 'is in use';
    throw new StartupError(`Port ${metricsPort} ${problem}: set BANYAN_METRICS_PORT to another port.`);
  });
  return {
    port: (server.address() as AddressInfo).port,
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}
