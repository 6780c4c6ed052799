/** Shows values byte for byte in readable views. */

export const VIEWS = [
  ['auto', 'Automatic'],
  ['text', 'Text'],
  ['json', 'JSON'],
  ['hex', 'Hex'],
  ['base64', 'Base64'],
];

const strict = new TextDecoder('utf-8', {fatal: true});
const lenient = new TextDecoder('utf-8');
const CONTROL = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/;

export const decode = (base64) => Uint8Array.from(atob(base64), (c) => c.charCodeAt(0));

/** The value as text in one of the views, and the view. */
export function show(value, view) {
  const bytes = (value.decoded ??= decode(value.base64));
  const chosen = view === 'auto' ? fitting(value, bytes) : view;
  if (chosen === 'hex') return {view: chosen, text: hex(bytes)};
  if (chosen === 'base64') return {view: chosen, text: value.base64};
  const text = lenient.decode(bytes);
  return {view: chosen, text: chosen === 'json' ? indented(text) : text};
}

/** A truncated value may end within a character. */
function fitting(value, bytes) {
  try {
    const text = value.bytes === bytes.length ? strict.decode(bytes) : lenient.decode(bytes);
    if (/^\s*[[{]/.test(text) && isJson(text)) return 'json';
    return CONTROL.test(text) ? 'hex' : 'text';
  } catch {
    return 'hex';
  }
}

function isJson(text) {
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}

/** Numbers too large for JavaScript keep their original text. */
function indented(text) {
  if (/\d{16}/.test(text)) return text;
  try {
    return JSON.stringify(JSON.parse(text), null, 2);
  } catch {
    return text;
  }
}

function hex(bytes) {
  const lines = [];
  for (let at = 0; at < bytes.length; at += 16) {
    const row = [...bytes.subarray(at, at + 16)];
    const digits = row.map((b) => b.toString(16).padStart(2, '0')).join(' ');
    const ascii = row.map((b) => (b > 31 && b < 127 ? String.fromCharCode(b) : '.')).join('');
    lines.push(`${at.toString(16).padStart(6, '0')}  ${digits.padEnd(47)}  ${ascii}`);
  }
  return lines.join('\n');
}
