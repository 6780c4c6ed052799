/** Where an archive's objects lie: a folder or a bucket. Knows nothing of what is in them. */
@NullMarked
package io.caravan.server.archive.object;

import org.jspecify.annotations.NullMarked;
