import fs from 'node:fs';
import path from 'node:path';
import { brotliCompressSync, constants, gzipSync } from 'node:zlib';
import react from '@vitejs/plugin-react';
import { defineConfig, type Plugin } from 'vite';

const outDir = path.resolve(import.meta.dirname, '../dist/console');

/** Compresses the assets at build time. The service sends these files as they are. */
const precompress: Plugin = {
  name: 'precompress',
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

/** Rejects code of the service in the bundle. */
const withoutService: Plugin = {
  name: 'without-service',
  load(id) {
    const file = path.relative(path.resolve(import.meta.dirname, '..'), id);
    if (/^(server|db)\//.test(file)) this.error(`The console must not import ${file}: use the client.`);
  },
};

/**
 * antd passes the CSP nonce to most style sheets that it creates, but not to the one that prevents scrolling behind a
 * dialog. This patches the function that creates all of them to fall back to the nonce of the page.
 */
const addNonceToStyles: Plugin = {
  name: 'add-nonce-to-styles',
  apply: 'build',
  transform(code, id) {
    if (!/@rc-component\/util\/es\/Dom\/dynamicCSS\.js$/.test(id)) return null;
    const nonceOption = /(?<!option\.)csp\?\.nonce/g;
    if (!nonceOption.test(code))
      this.error(
        `${id} has changed: check whether dialogs still violate the content security policy without this plugin.`,
      );
    const pageNonce = `document.querySelector('meta[property="csp-nonce"]')?.nonce`;
    return { code: code.replaceAll(nonceOption, `(csp?.nonce ?? ${pageNonce})`), map: null };
  },
};

const serviceUrl = process.env.BANYAN_URL ?? 'http://localhost:8080';

export default defineConfig({
  root: import.meta.dirname,
  plugins: [react(), withoutService, addNonceToStyles, precompress],
  // The service replaces this placeholder in every response.
  html: { cspNonce: '__CSP_NONCE__' },
  build: {
    outDir,
    emptyOutDir: true,
    target: 'es2022',
    // Do not inline assets: the content security policy allows `data:` URLs only for images.
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
  // For `npx vite console` next to a running service.
  server: {
    proxy: {
      '/auth': serviceUrl,
      '/system': serviceUrl,
      '/health': serviceUrl,
      '/version': serviceUrl,
      '/menus.json': serviceUrl,
    },
  },
});
