/**
 * Conversations by name, kept in an embedded store: one list for each, one entry for each message. What the memories of
 * Spring AI and LangChain4j share. {@link io.caravan.chat.Conversations} is the way in.
 */
@NullMarked
package io.caravan.chat;

import org.jspecify.annotations.NullMarked;
