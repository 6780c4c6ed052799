/** Formats numbers, sizes, and times. */

const whole = new Intl.NumberFormat('en', {maximumFractionDigits: 0});
const UNITS = ['B', 'KiB', 'MiB', 'GiB', 'TiB', 'PiB'];

export const count = (n) => whole.format(n ?? 0);

/** Formats with at most three digits and a decimal unit prefix. */
export function short(n) {
  if (n < 1000) return n < 10 && n % 1 ? n.toFixed(1) : whole.format(n);
  const [value, unit] = n < 1e6 ? [n / 1e3, 'k'] : n < 1e9 ? [n / 1e6, 'M'] : [n / 1e9, 'G'];
  return (value < 100 ? Number(value.toPrecision(3)) : Math.round(value)) + unit;
}

export function bytes(n) {
  let unit = 0;
  let value = n ?? 0;
  while (value >= 1024 && unit < UNITS.length - 1) {
    value /= 1024;
    unit++;
  }
  return (unit && value < 100 ? Number(value.toPrecision(3)) : Math.round(value)) + ' ' + UNITS[unit];
}

/** Formats nanoseconds as a readable time. */
export function nanos(n) {
  if (n >= 1e9) return Number((n / 1e9).toPrecision(3)) + ' s';
  return n >= 1e6 ? Number((n / 1e6).toPrecision(3)) + ' ms' : Math.round(n / 1e3) + ' µs';
}

export function seconds(s) {
  if (s < 1) return s <= 0 ? '0 s' : s.toFixed(1) + ' s';
  if (s < 90) return Math.round(s) + ' s';
  if (s < 5400) return Math.round(s / 60) + ' min';
  return s < 129600 ? Math.round(s / 3600) + ' h' : Math.round(s / 86400) + ' days';
}

export const moment = (time) => (time ? new Date(time).toLocaleString() : 'never');

export const plural = (n, one, many = one + 's') => `${count(n)} ${n === 1 ? one : many}`;

const UNSEEN = /[\u0000-\u001f\u007f-\u00a0\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]|^ | $| (?= )/g;

/** Makes the parts of a name visible that a browser hides: leading and trailing spaces, and directional marks. */
export const visible = (name) =>
  name.replace(UNSEEN, (c) => (c === ' ' ? '␣' : '\\u' + c.charCodeAt(0).toString(16).padStart(4, '0')));
