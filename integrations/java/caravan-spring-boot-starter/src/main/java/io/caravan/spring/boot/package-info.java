/**
 * An embedded store in a Spring Boot application: {@link io.caravan.spring.boot.CaravanAutoConfiguration} opens the
 * store with the settings of {@link io.caravan.spring.boot.CaravanProperties}.
 */
@NullMarked
package io.caravan.spring.boot;

import org.jspecify.annotations.NullMarked;
