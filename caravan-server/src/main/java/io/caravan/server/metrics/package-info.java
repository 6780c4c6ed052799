/** What the server counts of itself, for whoever scrapes it. */
@NullMarked
package io.caravan.server.metrics;

import org.jspecify.annotations.NullMarked;
