/** Checkpoint files: the index, partition by partition, so that the log before it is no longer needed. */
@NullMarked
package io.caravan.checkpoint;

import org.jspecify.annotations.NullMarked;
