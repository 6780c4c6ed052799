/**
 * Small volumes, which a test can fill.
 */
@NullMarked
package io.caravan.torture.disk;

import org.jspecify.annotations.NullMarked;
