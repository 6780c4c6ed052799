/**
 * Conversations by name in an embedded store: one list for each conversation, one entry for each message. The chat
 * memories of Spring AI and LangChain4j share this package. {@link io.caravan.chat.Conversations} is its entry point.
 */
@NullMarked
package io.caravan.chat;

import org.jspecify.annotations.NullMarked;
