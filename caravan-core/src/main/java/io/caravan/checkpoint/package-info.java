/** Checkpoint files, which contain the index, partition by partition, so that the earlier log is no longer needed. */
@NullMarked
package io.caravan.checkpoint;

import org.jspecify.annotations.NullMarked;
