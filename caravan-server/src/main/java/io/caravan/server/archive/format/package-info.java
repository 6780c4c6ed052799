/** The formats of an archive's objects: keys, snapshots, manifests. No I/O of its own. */
@NullMarked
package io.caravan.server.archive.format;

import org.jspecify.annotations.NullMarked;
