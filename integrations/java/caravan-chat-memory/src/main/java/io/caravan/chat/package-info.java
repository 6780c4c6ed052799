/**
 * Stores conversations by name in an embedded store: one list for each conversation, one entry for each message. The
 * chat memories for Spring AI and LangChain4j share this code. Start with {@link io.caravan.chat.Conversations}.
 */
@NullMarked
package io.caravan.chat;

import org.jspecify.annotations.NullMarked;
