/**
 * Checkpoint files: the index as it was, partition by partition, so that the log before it is not needed any more.
 */
@NullMarked
package io.caravan.checkpoint;

import org.jspecify.annotations.NullMarked;
