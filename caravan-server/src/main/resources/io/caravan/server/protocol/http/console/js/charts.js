/** Charts of metrics over time. */

import uPlot from '../vendor/uplot/uPlot.esm.js';

/** The shortest time range of a chart, in seconds. */
const SPAN = 60;
const POWERS = Array.from({length: 50}, (_, power) => 2 ** power);
const STEPS = [1, 2, 5, 10, 15, 30, 60, 120, 300, 600];

const clock = (seconds) => new Date(seconds * 1000).toTimeString().slice(0, 8);

function span(_, first, last) {
  const to = last ?? Date.now() / 1000;
  return [Math.min(first ?? to, to - SPAN), to];
}

const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

/** A canvas that draws `series` of a history, in the colors and the width of the page. */
class CaravanChart extends HTMLElement {
  #plot = null;
  #spec = null;
  #data = [[]];
  #watch = new ResizeObserver(() => this.#resize());
  #scheme = matchMedia('(prefers-color-scheme: dark)');
  #redraw = () => this.#build();

  set spec(spec) {
    if (this.#spec !== spec) {
      this.#spec = spec;
      this.#build();
    }
  }

  set data(data) {
    this.#data = data;
    this.#plot?.setData(data);
  }

  connectedCallback() {
    this.#watch.observe(this);
    this.#scheme.addEventListener('change', this.#redraw);
    this.#build();
  }

  disconnectedCallback() {
    this.#watch.disconnect();
    this.#scheme.removeEventListener('change', this.#redraw);
    this.#plot?.destroy();
    this.#plot = null;
  }

  #size() {
    return {width: Math.max(200, this.clientWidth), height: 170};
  }

  #resize() {
    this.#plot?.setSize(this.#size());
  }

  #build() {
    if (!this.isConnected || !this.#spec) return;
    this.#plot?.destroy();
    const ink = style('--muted');
    const grid = {stroke: style('--line'), width: 1};
    const axis = {stroke: ink, grid, ticks: {show: false}, font: '11px system-ui, sans-serif'};
    const {series, format, binary} = this.#spec;
    this.#plot = new uPlot(
      {
        ...this.#size(),
        legend: {show: false},
        cursor: {drag: {x: false, y: false}, points: {size: 6}, sync: {key: 'caravan'}},
        scales: {x: {range: span}, y: {range: (_, __, max) => [0, max > 0 ? max * 1.12 : 1]}},
        axes: [
          {...axis, space: 76, size: 26, incrs: STEPS, values: (_, ticks) => ticks.map(clock)},
          {
            ...axis,
            size: 62,
            space: 32,
            ...(binary ? {incrs: POWERS} : {}),
            values: (_, ticks) => ticks.map(format),
          },
        ],
        series: [
          {},
          ...series.map(({label, colour, fill}) => ({
            label,
            stroke: style(colour),
            fill: fill ? style(colour) + '22' : undefined,
            width: 1.75,
            points: {show: false},
          })),
        ],
      },
      this.#data,
      this,
    );
  }
}

customElements.define('caravan-chart', CaravanChart);
