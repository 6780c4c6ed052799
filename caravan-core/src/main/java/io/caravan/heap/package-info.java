/**
 * The heap: free space as pure arithmetic ({@link io.caravan.heap.IndexedHeap}), and the files with the values that
 * have moved there ({@link io.caravan.heap.HeapFile}).
 */
@NullMarked
package io.caravan.heap;

import org.jspecify.annotations.NullMarked;
