/** Programs that the container image runs in addition to the server. */
@NullMarked
package io.caravan.dist;

import org.jspecify.annotations.NullMarked;
