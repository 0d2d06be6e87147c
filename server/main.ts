import { run } from './process/run.ts';

run();
