/** Stores Spring AI chat memories in an embedded store: {@link io.caravan.spring.ai.CaravanChatMemoryRepository}. */
@NullMarked
package io.caravan.spring.ai;

import org.jspecify.annotations.NullMarked;
