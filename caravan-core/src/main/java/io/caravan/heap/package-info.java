/**
 * The heap: the arithmetic of its free space ({@link io.caravan.heap.IndexedHeap}), and the files with the values that
 * have moved to the heap ({@link io.caravan.heap.HeapFile}).
 */
@NullMarked
package io.caravan.heap;

import org.jspecify.annotations.NullMarked;
