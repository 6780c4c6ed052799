/** Stores LangChain4j chat memories in an embedded store: {@link io.caravan.langchain4j.CaravanChatMemoryStore}. */
@NullMarked
package io.caravan.langchain4j;

import org.jspecify.annotations.NullMarked;
