/** Shared code for the tests of the integrations. */
@NullMarked
package io.caravan.integrations.testing;

import org.jspecify.annotations.NullMarked;
