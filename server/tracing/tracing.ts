import { setTimeout } from 'node:timers/promises';
import type { Span } from '@opentelemetry/api';
import type { SpanProcessor } from '@opentelemetry/sdk-trace-node';
import type { FastifyRequest } from 'fastify';
import type { App } from '../context.ts';
import { requestIdOf } from '../http/envelope.ts';
import { version } from '../version.ts';

/** How long a shutdown waits until the last spans are exported. */
const SHUTDOWN_MS = 1_000;

/**
 * Exports a span for each request with OpenTelemetry (OTLP over HTTP). The libraries are loaded only here. They read the
 * variables `OTEL_*` themselves. Must be called before other hooks are added.
 */
export async function startTracing(app: App): Promise<void> {
  const [
    { diag, DiagLogLevel },
    { BatchSpanProcessor, NodeTracerProvider },
    { OTLPTraceExporter },
    resources,
    fastify,
  ] = await Promise.all([
    import('@opentelemetry/api'),
    import('@opentelemetry/sdk-trace-node'),
    import('@opentelemetry/exporter-trace-otlp-http'),
    import('@opentelemetry/resources'),
    import('@fastify/otel'),
  ]);
  const report = logOnce(app);
  diag.setLogger({ error: report, warn: report, info() {}, debug() {}, verbose() {} }, DiagLogLevel.WARN);
  const { defaultResource, detectResources, envDetector, resourceFromAttributes } = resources;
  const provider = new NodeTracerProvider({
    resource: defaultResource()
      .merge(resourceFromAttributes({ 'service.name': 'banyan', 'service.version': version }))
      .merge(detectResources({ detectors: [envDetector] })),
    spanProcessors: [statusFromResponse, new BatchSpanProcessor(new OTLPTraceExporter())],
  });
  // The plugin finds the parent of a span through the global propagator.
  provider.register();
  const instrumentation = new fastify.FastifyOtelInstrumentation({
    // One span for each request: spans of every hook and handler would cost more than the requests.
    instrumentHooks: false,
    instrumentHandler: false,
    recordExceptions: false,
    // Probes call these at short intervals, outside of any trace.
    ignorePaths: ({ url }) => /^\/(health\/|metrics\b)/.test(url),
    requestHook: describeRequest,
  });
  instrumentation.setTracerProvider(provider);
  await app.register(instrumentation.plugin());
  app.addHook('onSend', (request, { errorStatus }, payload, done) => {
    // With BANYAN_ERROR_STATUS=200, the status of the response does not show that the request failed.
    if (errorStatus !== null) request.opentelemetry().span?.setAttribute('error.type', String(errorStatus));
    done(null, payload);
  });
  app.addHook('onClose', async () => {
    const ended = setTimeout(SHUTDOWN_MS, undefined, { ref: false });
    await Promise.race([provider.shutdown().catch(() => {}), ended]);
  });
}

/** Names the span, and makes it the parent in the request's trace context, which access log, ledger and webhooks use. */
function describeRequest(span: Span, request: FastifyRequest): void {
  span.updateName(`${request.method} ${request.routeOptions.url ?? ''}`.trim());
  // Without the query, which may contain names.
  span.setAttribute('url.path', request.url.split('?')[0] as string);
  const { traceId, spanId, traceFlags } = span.spanContext();
  request.raw.headers.traceparent = `00-${traceId}-${spanId}-${traceFlags.toString(16).padStart(2, '0')}`;
  request.id = requestIdOf(request.raw);
}

/**
 * The plugin marks the spans of all rejected requests as failed. By OpenTelemetry's conventions a 4xx is not an error of the
 * server. Messages of errors are not exported, because they may contain data.
 */
const statusFromResponse: SpanProcessor = {
  onStart() {},
  onEnd(span) {
    const status = span.attributes['error.type'] ?? span.attributes['http.response.status_code'];
    const failed = Number(status ?? 0) >= 500;
    Object.assign(span.status, { code: failed ? 2 : 0, message: undefined });
  },
  forceFlush: async () => {},
  shutdown: async () => {},
};

/** Logs a problem of the export once, and again when it changes: an unavailable collector would fill the log. */
function logOnce(app: App): (message: string) => void {
  let last = '';
  return (message) => {
    if (message === last) return;
    last = message;
    app.log.warn({ cause: message.slice(0, 1_000) }, 'traces could not be exported');
  };
}
