// dist/ui.html: the admin server's /ui as one file that asks nothing of other machines.
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { root } from './set-up.mjs';

const sources = join(root, 'src', 'ui');

async function bundleOf(name) {
  const { build } = await import('esbuild');
  const { outputFiles } = await build({
    entryPoints: [join(sources, name)],
    bundle: true,
    minify: true,
    format: 'iife',
    target: ['es2022', 'chrome123', 'firefox120', 'safari17.5'],
    write: false,
    legalComments: 'none',
    logLevel: 'warning',
  });
  // Nothing in it may end the element that it stands in.
  return outputFiles[0].text.trim().replaceAll('</', '<\\/');
}

export async function buildUi() {
  const page = readFileSync(join(sources, 'index.html'), 'utf8');
  const style = `<style>${await bundleOf('style.css')}</style>`;
  const script = `<script>${await bundleOf('main.ts')}</script>`;
  const whole = page
    .replace('</head>', () => `${style}\n  </head>`)
    .replace('</body>', () => `${script}\n  </body>`);
  writeFileSync(join(root, 'dist', 'ui.html'), whole);
}
