// npm start: compiles when needed, then becomes the service. One process, so that signals reach it.
import { build } from './build.js';

build();
process.setSourceMapsEnabled(true);
await import('../dist/server/main.js');
