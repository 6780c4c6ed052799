/** What an archive's objects mean: keys, snapshots, manifests. Bytes in, values out; no I/O of its own. */
@NullMarked
package io.caravan.server.archive.format;

import org.jspecify.annotations.NullMarked;
