/** Code that the tests of several integrations share. */
@NullMarked
package io.caravan.integrations.testing;

import org.jspecify.annotations.NullMarked;
