/** Object stores for an archive: a directory or a bucket. They are independent of the objects' content. */
@NullMarked
package io.caravan.server.archive.object;

import org.jspecify.annotations.NullMarked;
