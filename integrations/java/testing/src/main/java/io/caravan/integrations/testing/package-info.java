/** What the tests of several integrations need. */
@NullMarked
package io.caravan.integrations.testing;

import org.jspecify.annotations.NullMarked;
