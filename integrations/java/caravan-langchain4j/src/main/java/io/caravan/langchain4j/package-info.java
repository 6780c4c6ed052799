/** A LangChain4j chat memory store in an embedded store: {@link io.caravan.langchain4j.CaravanChatMemoryStore}. */
@NullMarked
package io.caravan.langchain4j;

import org.jspecify.annotations.NullMarked;
