import { run } from '../../server/run.ts';

/** The service as a process, with the deadlines that a test passes. `start` of process.ts launches this file. */
process.setSourceMapsEnabled(true);
run(JSON.parse(process.env.BANYAN_TEST_FOOTING ?? '{}'));
