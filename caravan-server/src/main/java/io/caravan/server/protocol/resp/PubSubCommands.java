package io.caravan.server.protocol.resp;

import static io.caravan.server.protocol.resp.CommandSpec.pubsub;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.CommandSpec.Access;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** The publish/subscribe commands. A channel has a name like a document, and requires the same permissions. */
public final class PubSubCommands {
    private static final Way BY_NAME = new Way("", word -> new Topic.Named(DocumentName.of(word)), Topic.Named.class);
    private static final Way BY_PATTERN =
            new Way("p", word -> new Topic.Matching(new Glob(word)), Topic.Matching.class);

    private PubSubCommands() {}

    public static List<CommandSpec> all(Channels channels) {
        return List.of(
                pubsub("SUBSCRIBE", -2, "Subscribes to channels.")
                        .access(Access.READ)
                        .immediate(BY_NAME::subscribe),
                pubsub("UNSUBSCRIBE", -1, "Unsubscribes from channels, or from all of them.")
                        .immediate(BY_NAME::unsubscribe),
                pubsub("PSUBSCRIBE", -2, "Subscribes to all channels that match patterns.")
                        .access(Access.READ)
                        .immediate(BY_PATTERN::subscribe),
                pubsub("PUNSUBSCRIBE", -1, "Unsubscribes from patterns, or from all of them.")
                        .immediate(BY_PATTERN::unsubscribe),
                pubsub("PUBLISH", 3, "Sends a message to the subscribers of a channel.")
                        .access(Access.WRITE)
                        // On an event loop, matching the channel against all patterns would delay other clients.
                        .waiting((session, command) -> publish(channels, session, command)));
    }

    /**
     * A method of selecting channels: by name or by pattern.
     *
     * @param prefix the prefix of the names of the commands and replies
     * @param of converts a word of a command to a topic
     */
    private record Way(String prefix, Function<byte[], Topic> of, Class<? extends Topic> kind) {

        /** Subscribes to all topics that the command names, or to none. */
        Reply subscribe(Session session, Command command) {
            Subscriber subscriber = session.subscriptions;
            List<Reply> replies = new ArrayList<>();
            List<Topic> added = new ArrayList<>();
            try {
                for (Topic topic : topics(command)) {
                    if (subscriber.add(topic)) {
                        added.add(topic);
                    }
                    replies.add(confirmation("subscribe", topic.toBytes(), subscriber));
                }
            } catch (RuntimeException rejected) {
                added.forEach(subscriber::remove);
                throw rejected;
            }
            return new Reply.Sequence(replies);
        }

        Reply unsubscribe(Session session, Command command) {
            Subscriber subscriber = session.subscriptions;
            List<Topic> topics = command.size() == 1 ? subscriber.topics(kind) : topics(command);
            if (topics.isEmpty()) {
                return confirmation("unsubscribe", null, subscriber);
            }
            List<Reply> replies = new ArrayList<>();
            for (Topic topic : topics) {
                subscriber.remove(topic);
                replies.add(confirmation("unsubscribe", topic.toBytes(), subscriber));
            }
            return new Reply.Sequence(replies);
        }

        private Reply confirmation(String what, byte @Nullable [] topic, Subscriber subscriber) {
            return Reply.Array.push(prefix + what, topic, subscriber.count());
        }

        private List<Topic> topics(Command command) {
            if (command.size() - 1 > KeyCommands.MAX_NAMES) {
                throw new CommandException("ERR " + command.shortText(0) + " accepts at most " + KeyCommands.MAX_NAMES
                        + " channels at a time; use several commands");
            }
            return command.wordsFrom(1).stream().map(of).toList();
        }
    }

    private static Reply publish(Channels channels, Session session, Command command) {
        DocumentName channel = ListCommands.name(command);
        session.require(Permission.WRITE, channel);
        return new Reply.Number(channels.publish(channel, command.word(2)));
    }
}
