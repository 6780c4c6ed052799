// The code that the integrations share.
/** @typedef {import("./caravan.mjs").Options} Options */
export { Caravan, CaravanError } from "./caravan.mjs"
export { Journal } from "./journal.mjs"
