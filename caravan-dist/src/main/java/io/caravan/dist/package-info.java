/** What the container image runs besides the server. */
@NullMarked
package io.caravan.dist;

import org.jspecify.annotations.NullMarked;
