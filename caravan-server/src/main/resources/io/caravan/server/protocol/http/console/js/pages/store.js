/** The layout of the store on disk: its log, its young values, and its heap by segment. */

import {html, nothing, svg} from '../../vendor/lit-html/lit-html.js';
import {polled} from '../api.js';
import {bytes, count, plural} from '../format.js';

export const title = 'Store';

/** The maximum number of segments in the picture. The table contains all. */
const MAX_CELLS = 2000;
const MAX_ROWS = 500;
/** Up to this number, each segment has a line. */
const MAX_BARS = 12;
let shard = 0;

// The user may have selected another shard before the response arrives.
const poll = polled(() => `/v1/store?shard=${shard}`, 2500, (found) => found.shard === shard);
export const {enter, leave} = poll;

export function view() {
  const {value: layout, problem} = poll;
  return html`<div class="head"><h1 tabindex="-1">Store</h1></div>
    ${layout?.shards > 1 ? shards(layout) : nothing}
    ${problem ? html`<p class="problem" role="alert">${problem}</p>` : nothing}
    ${layout ? (layout.log.segmentBytes ? picture(layout) : html`<p>This store is in memory only.</p>`) : nothing}`;
}

const shards = (found) => html`<p>
  <label>Shard <select @change=${choose}>
    ${Array.from({length: found.shards}, (_, n) => html`<option value=${n} ?selected=${n === shard}>${n}</option>`)}
  </select></label>
  of ${found.shards}: each has its own log and heap.
</p>`;

function choose(event) {
  shard = Number(event.target.value);
  poll.ask();
}

const picture = (found) => html`${log(found.log)}${nursery(found.log)}${heap(found)}`;

const bar = (parts, total, label) => {
  let at = 0;
  return html`<svg class="bar" viewBox="0 0 1000 28" preserveAspectRatio="none" role="img" aria-label=${label}>
    <rect class="free" width="1000" height="28"></rect>
    ${parts.map(([kind, size]) => {
      const width = total ? Math.min(1000 - at, (1000 * size) / total) : 0;
      const drawn = svg`<rect class=${kind} x=${at} width=${width} height="28"></rect>`;
      at += width;
      return drawn;
    })}
  </svg>`;
};

function log(found) {
  const cells = [];
  for (let n = found.firstSegment; n <= found.lastSegment && cells.length < 200; n++) {
    const kind = n < found.currentSegment ? 'kept' : n === found.currentSegment ? 'current' : 'ready';
    cells.push(html`<li class=${'segment ' + kind}><b>${n}</b>${kind === 'current' ? 'written to' : kind}</li>`);
  }
  const share = Math.round((100 * found.replayBytes) / Math.max(1, found.checkpointAtBytes));
  return html`<section class="card">
    <h2>Log</h2>
    <p>
      ${plural(found.lastSegment - found.firstSegment + 1, 'segment')} of ${bytes(found.segmentBytes)}. A recovery would replay
      <b>${bytes(found.replayBytes)}</b>; the next checkpoint starts at ${bytes(found.checkpointAtBytes)}.
    </p>
    ${bar([['live', found.replayBytes]], found.checkpointAtBytes, `${share} percent of the way to the next checkpoint`)}
    <ul class="segments">${cells}</ul>
  </section>`;
}

const nursery = (found) => html`<section class="card">
  <h2>Nursery</h2>
  <p>
    Young values are in the log. A checkpoint now would move at most <b>${bytes(found.survivorBytes)}</b> to the
    heap${found.replayBytes ? html`, from ${bytes(found.replayBytes)} of log after the last checkpoint` : nothing}. Values that
    are trimmed before the checkpoint are never moved.
  </p>
  ${bar(
    [['young', found.survivorBytes]],
    Math.max(found.replayBytes, found.survivorBytes, 1),
    `${bytes(found.survivorBytes)} would move to the heap`,
  )}
</section>`;

function heap({heap: segments, pinsComplete}) {
  const sum = (figure) => segments.reduce((all, each) => all + figure(each), 0);
  const total = sum((each) => each.totalBytes);
  const free = sum((each) => each.freeBytes);
  const pinned = sum((each) => each.pinnedBytes);
  return html`<section class="card">
    <h2>Heap</h2>
    <p class="legend">
      <span class="key live">live</span> <b>${bytes(total - free - pinned)}</b> <span class="key pinned">pinned</span>
      <b>${pinsComplete ? '' : 'over '}${bytes(pinned)}</b> <span class="key free">free</span> <b>${bytes(free)}</b> in
      ${plural(sum((each) => each.holes), 'hole')}
    </p>
    ${bar(
      [
        ['live', total - free - pinned],
        ['pinned', pinned],
      ],
      total,
      `live ${bytes(total - free - pinned)}, pinned ${bytes(pinned)}, free ${bytes(free)}`,
    )}
    ${segments.length > MAX_BARS
      ? html`<div class="cells" aria-hidden="true">${segments.slice(0, MAX_CELLS).map(cell)}</div>`
      : segments.length > 1
        ? html`<ol class="bars" aria-hidden="true">${segments.map(segmentBar)}</ol>`
        : nothing}
    <details>
      <summary>The segments as a table</summary>
      <div class="scroll" tabindex="0" role="region" aria-label="Segments of the heap">
        <table>
          <thead>
            <tr><th scope="col">Segment</th><th scope="col">Live</th><th scope="col">Pinned</th><th scope="col">Free</th>
            <th scope="col">Holes</th><th scope="col">Largest hole</th></tr>
          </thead>
          <tbody>${segments.slice(0, MAX_ROWS).map(row)}</tbody>
        </table>
      </div>
      ${segments.length > MAX_ROWS ? html`<p class="muted">and ${count(segments.length - MAX_ROWS)} more</p>` : nothing}
    </details>
  </section>`;
}

const live = (each) => each.totalBytes - each.freeBytes - each.pinnedBytes;

const segmentBar = (each) => html`<li>
  <b>${each.number}</b>
  ${bar(
    [
      ['live', live(each)],
      ['pinned', each.pinnedBytes],
    ],
    each.totalBytes,
    `segment ${each.number}`,
  )}
  <span>${bytes(each.freeBytes)} free in ${plural(each.holes, 'hole')}</span>
</li>`;

function cell(each) {
  const liveHeight = (40 * live(each)) / each.totalBytes;
  const pinnedHeight = (40 * each.pinnedBytes) / each.totalBytes;
  return html`<svg viewBox="0 0 26 40" class="cell">
    <title>segment ${each.number}: live ${bytes(live(each))}, pinned ${bytes(each.pinnedBytes)}, free ${bytes(each.freeBytes)}</title>
    <rect class="free" width="26" height="40"></rect>
    <rect class="live" y=${40 - liveHeight} width="26" height=${liveHeight}></rect>
    <rect class="pinned" y=${40 - liveHeight - pinnedHeight} width="26" height=${pinnedHeight}></rect>
  </svg>`;
}

const row = (each) => html`<tr>
  <th scope="row">${each.number}</th>
  <td>${bytes(live(each))}</td>
  <td>${bytes(each.pinnedBytes)}</td>
  <td>${bytes(each.freeBytes)}</td>
  <td>${count(each.holes)}</td>
  <td>${bytes(each.largestHoleBytes)}</td>
</tr>`;
