// npm start: compiles if needed, then runs the service in the same process, so that signals reach it.
import { build } from './build.js';

build();
process.setSourceMapsEnabled(true);
await import('../dist/server/main.js');
