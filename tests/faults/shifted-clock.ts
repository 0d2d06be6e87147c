/** Preloaded into a process (--import) to shift its clock by BANYAN_TEST_CLOCK_SECONDS, forward or back. */
const offset = Number(process.env.BANYAN_TEST_CLOCK_SECONDS ?? 0) * 1000;
const RealDate = Date;

globalThis.Date = new Proxy(RealDate, {
  construct: (target, args, newTarget) =>
    Reflect.construct(target, args.length === 0 ? [RealDate.now() + offset] : args, newTarget),
  apply: () => new RealDate(RealDate.now() + offset).toString(),
  get: (target, name, receiver) =>
    name === 'now' ? () => RealDate.now() + offset : Reflect.get(target, name, receiver),
});
