import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterFile } from './cleanup.ts';

/** A local receiver of webhooks. */

export interface Received {
  id: string;
  headers: Record<string, string>;
  body: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects out of any message
  data: any;
  /** The status of the response. */
  status: number;
}

/** Returns the status of the response, or undefined if it responds itself or does not respond at all. */
export type Responder = (received: Received, response: http.ServerResponse) => number | undefined;

export class Receiver {
  /** All messages, in order of arrival. */
  readonly all: Received[] = [];
  respond: Responder;
  private readonly server: http.Server | https.Server;

  /** With a certificate the receiver uses HTTPS. */
  private constructor(respond: Responder, certificate?: { cert: string; key: string }) {
    this.respond = respond;
    const handle = (request: http.IncomingMessage, response: http.ServerResponse) => this.handle(request, response);
    this.server = certificate ? https.createServer(certificate, handle) : http.createServer(handle);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  get accepted(): Received[] {
    return this.all.filter(({ status }) => status >= 200 && status < 300);
  }

  static async start(respond: Responder = () => 200, certificate?: { cert: string; key: string }): Promise<Receiver> {
    const receiver = new Receiver(respond, certificate);
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    afterFile(() => {
      receiver.server.closeAllConnections();
      receiver.server.close();
    });
    return receiver;
  }

  private handle(request: http.IncomingMessage, response: http.ServerResponse) {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const headers = request.headers as Record<string, string>;
      const { type, data } = JSON.parse(body);
      const received = { id: String(headers['webhook-id']), headers, body, type, data, status: 0 };
      this.all.push(received);
      const status = this.respond(received, response);
      if (status === undefined) return;
      received.status = status;
      response.writeHead(status).end(`responded ${status}`);
    });
  }
}
