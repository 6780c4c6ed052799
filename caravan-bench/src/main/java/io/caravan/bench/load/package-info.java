/** Load on a running server at a given rate, whatever the server does, and how long it makes each request wait. */
@NullMarked
package io.caravan.bench.load;

import org.jspecify.annotations.NullMarked;
