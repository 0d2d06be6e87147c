import Fastify from 'fastify';

/** The baseline of the read benchmark: a Fastify route that only returns a constant of the same size. */
const app = Fastify();
const body = JSON.parse(process.env.BENCH_BODY ?? '{}');
const typeOf = (value: unknown) => (typeof value === 'number' ? 'integer' : ['string', 'null']);
const properties = Object.fromEntries(
  Object.entries(body.data).map(([name, value]) => [name, { type: typeOf(value) }]),
);
const schema = {
  type: 'object',
  properties: { code: { type: 'integer' }, msg: { type: 'string' }, data: { type: 'object', properties } },
};
app.get('/constant', { schema: { response: { 200: schema } } }, async () => body);
await app.listen({ port: 0, host: '127.0.0.1' });
process.send?.(app.server.address());
process.on('disconnect', () => process.exit());
