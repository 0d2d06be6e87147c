import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const outDir = path.resolve(import.meta.dirname, '../dist/console');

/** The service sends these as they are, so that nothing is compressed while somebody waits. */
const precompressed: Plugin = {
  name: 'precompressed',
  apply: 'build',
  closeBundle() {
    const assets = path.join(outDir, 'assets');
    for (const name of fs.readdirSync(assets).filter((name) => /\.(js|css|svg)$/.test(name))) {
      const file = path.join(assets, name);
      const content = fs.readFileSync(file);
      fs.writeFileSync(`${file}.gz`, gzipSync(content, { level: 9 }));
      fs.writeFileSync(`${file}.br`, brotliCompressSync(content, { params: { [constants.BROTLI_PARAM_QUALITY]: 10 } }));
    }
  },
};

/** Types of the service's schemas are gone by now. What is still here would bring the service into the browser. */
const typesOnly: Plugin = {
  name: 'types-only',
  load(id) {
    const file = path.relative(path.resolve(import.meta.dirname, '..'), id);
    if (/^(server|db)\//.test(file)) this.error(`The console takes types of ${file}, no code: use import type.`);
  },
};

/**
 * antd hands its nonce to most style sheets that it makes, but not to the one that stops the page from scrolling behind a
 * dialog. So the function that makes them all takes it from the page where none is given.
 */
const everyStyleHasNonce: Plugin = {
  name: 'every-style-has-nonce',
  apply: 'build',
  transform(code, id) {
    if (!/@rc-component\/util\/es\/Dom\/dynamicCSS\.js$/.test(id)) return null;
    const given = /(?<!option\.)csp\?\.nonce/g;
    if (!given.test(code)) this.error(`${id} is not as it was: see whether dialogs keep to the policy without this.`);
    const fromPage = `document.querySelector('meta[property="csp-nonce"]')?.nonce`;
    return { code: code.replaceAll(given, `(csp?.nonce ?? ${fromPage})`), map: null };
  },
};

const service = process.env.BANYAN_URL ?? 'http://localhost:8080';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), typesOnly, everyStyleHasNonce, precompressed],
  // Replaced by the service at each answer.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // An image inside a style sheet would be a data: address, which the policy does not allow.
    assetsInlineLimit: 0,
    chunkSizeWarningLimit: 1200,
    rolldownOptions: {
      output: {
        codeSplitting: {
          groups: [
            { name: 'react', test: /node_modules\/(react|react-dom|scheduler|react-router|@tanstack)\//, priority: 2 },
          ],
        },
      },
    },
  },
  // npx vite console, beside a running service.
  server: { proxy: { '/auth': service, '/system': service, '/health': service, '/version': service } },
});
