/** The formats of an archive's objects: root, manifests, snapshots, and their keys. Does no I/O. */
@NullMarked
package io.caravan.server.archive.format;

import org.jspecify.annotations.NullMarked;
