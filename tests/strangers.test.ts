import { startService } from './harness.ts';
import { callStrangers } from './strangers.ts';

await callStrangers(await startService());
