import http from 'node:http';
import https from 'node:https';
import type { AddressInfo } from 'node:net';
import { afterFile } from './cleanup.ts';

/** Somebody who is sent webhooks, on this machine. */

export interface Received {
  id: string;
  headers: Record<string, string>;
  body: string;
  type: string;
  // biome-ignore lint/suspicious/noExplicitAny: a test reads what it expects out of any message
  data: any;
  /** What it was answered. */
  status: number;
}

/** A status, or something that answers by itself, or never. */
export type Answering = (received: Received, response: http.ServerResponse) => number | undefined;

export class Receiver {
  /** In the order in which they came. */
  readonly all: Received[] = [];
  answering: Answering;
  private readonly server: http.Server | https.Server;

  /** `certificate`: it speaks https. */
  private constructor(answering: Answering, certificate?: { cert: string; key: string }) {
    this.answering = answering;
    const take = (request: http.IncomingMessage, response: http.ServerResponse) => this.take(request, response);
    this.server = certificate ? https.createServer(certificate, take) : http.createServer(take);
  }

  get port(): number {
    return (this.server.address() as AddressInfo).port;
  }

  get url(): string {
    return `http://127.0.0.1:${this.port}/hook`;
  }

  /** What it has taken. */
  get taken(): Received[] {
    return this.all.filter(({ status }) => status >= 200 && status < 300);
  }

  static async start(answering: Answering = () => 200, certificate?: { cert: string; key: string }): Promise<Receiver> {
    const receiver = new Receiver(answering, certificate);
    await new Promise<void>((resolve) => receiver.server.listen(0, '127.0.0.1', resolve));
    afterFile(() => {
      receiver.server.closeAllConnections();
      receiver.server.close();
    });
    return receiver;
  }

  private take(request: http.IncomingMessage, response: http.ServerResponse) {
    const chunks: Buffer[] = [];
    request.on('data', (chunk) => chunks.push(chunk));
    request.on('end', () => {
      const body = Buffer.concat(chunks).toString('utf8');
      const headers = request.headers as Record<string, string>;
      const { type, data } = JSON.parse(body);
      const received = { id: String(headers['webhook-id']), headers, body, type, data, status: 0 };
      this.all.push(received);
      const status = this.answering(received, response);
      if (status === undefined) return;
      received.status = status;
      response.writeHead(status).end(`taken as ${status}`);
    });
  }
}
