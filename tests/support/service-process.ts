import { run } from '../../server/process/run.ts';

/** Runs the service as a process with the options of a test. `startWithoutDeadlines` of process.ts launches this file. */
process.setSourceMapsEnabled(true);
run(JSON.parse(process.env.BANYAN_TEST_OPTIONS ?? '{}'));
