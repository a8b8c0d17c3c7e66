// A bar chart as SVG: one group of horizontal bars per workload, each group on its own scale. Follows
// the reader's light or dark scheme.
import { figure } from '../support/table.mjs';

const WIDTH = 760;
const MARGIN = 24;
const NAME_WIDTH = 150;
const VALUE_WIDTH = 70;
const BAR_HEIGHT = 18;
const BAR_GAP = 6;
const GROUP_HEAD = 34;
const TITLE_HEIGHT = 52;

const STYLE = `
  text { font: 13px system-ui, sans-serif; fill: #24292f; }
  .title { font-size: 17px; font-weight: 600; }
  .group { font-weight: 600; }
  .value { fill: #57606a; }
  .paper { fill: #ffffff; }
  .bar { fill: #8c959f; }
  .bar.own { fill: #0969da; }
  @media (prefers-color-scheme: dark) {
    text { fill: #e6edf3; }
    .value { fill: #9198a1; }
    .paper { fill: #0d1117; }
    .bar { fill: #6e7681; }
    .bar.own { fill: #4493f8; }
  }`;

/**
 * @param {{title: string, highlight: string,
 *   groups: readonly {title: string, bars: readonly {name: string, value: number}[]}[]}} chart
 * @returns {string} an SVG document
 */
export function barChart({ title, highlight, groups }) {
  let top = TITLE_HEIGHT;
  const body = groups.map((group) => {
    const drawn = drawGroup(group, highlight, top);
    top += GROUP_HEAD + group.bars.length * (BAR_HEIGHT + BAR_GAP) + BAR_GAP;
    return drawn;
  });
  const height = top + MARGIN;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" role="img" aria-label="${escapeText(title)}">`,
    `<style>${STYLE}\n</style>`,
    `<rect class="paper" width="${WIDTH}" height="${height}"/>`,
    `<text class="title" x="${MARGIN}" y="32">${escapeText(title)}</text>`,
    ...body,
    '</svg>\n',
  ].join('\n');
}

function drawGroup({ title, bars }, highlight, top) {
  const longest = Math.max(...bars.map((bar) => bar.value));
  const room = WIDTH - 2 * MARGIN - NAME_WIDTH - VALUE_WIDTH;
  const lines = [`<text class="group" x="${MARGIN}" y="${top + 22}">${escapeText(title)}</text>`];
  bars.forEach(({ name, value }, index) => {
    const y = top + GROUP_HEAD + index * (BAR_HEIGHT + BAR_GAP);
    const length = Math.max(1, (value / longest) * room);
    const left = MARGIN + NAME_WIDTH;
    const kind = name === highlight ? 'bar own' : 'bar';
    lines.push(
      `<text x="${left - 8}" y="${y + 14}" text-anchor="end">${escapeText(name)}</text>`,
      `<rect class="${kind}" x="${left}" y="${y}" width="${length.toFixed(1)}" height="${BAR_HEIGHT}" rx="2"/>`,
      `<text class="value" x="${(left + length + 6).toFixed(1)}" y="${y + 14}">${figure(value)}</text>`,
    );
  });
  return lines.join('\n');
}

function escapeText(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;');
}
