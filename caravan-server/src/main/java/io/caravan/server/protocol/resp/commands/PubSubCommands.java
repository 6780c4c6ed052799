package io.caravan.server.protocol.resp.commands;

import static io.caravan.server.protocol.resp.dispatch.CommandSpec.pubsub;

import io.caravan.catalog.DocumentName;
import io.caravan.server.protocol.resp.codec.Command;
import io.caravan.server.protocol.resp.codec.CommandException;
import io.caravan.server.protocol.resp.codec.Reply;
import io.caravan.server.protocol.resp.dispatch.Channels;
import io.caravan.server.protocol.resp.dispatch.CommandGate;
import io.caravan.server.protocol.resp.dispatch.CommandSpec;
import io.caravan.server.protocol.resp.dispatch.CommandSpec.Access;
import io.caravan.server.protocol.resp.dispatch.Session;
import io.caravan.server.protocol.resp.dispatch.Subscriber;
import io.caravan.server.security.Permission;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Messages to those who listen: a channel is called as a document may be, and needs the same permissions. */
public final class PubSubCommands {

    private PubSubCommands() {}

    /** Commands over these channels. */
    public static List<CommandSpec> all(Channels channels) {
        return List.of(
                pubsub("SUBSCRIBE", -2, "Listens to channels.")
                        .access(Access.READ)
                        .immediate(PubSubCommands::subscribe),
                pubsub("UNSUBSCRIBE", -1, "Listens to channels no more, or to none.")
                        .immediate(PubSubCommands::unsubscribe),
                pubsub("PUBLISH", 3, "Sends a message to those who listen to a channel.")
                        .access(Access.WRITE)
                        .immediate((session, command) -> publish(channels, session, command)));
    }

    /** All or none. */
    private static Reply subscribe(Session session, Command command) {
        Subscriber subscriber = session.subscriptions();
        List<Reply> replies = new ArrayList<>();
        List<DocumentName> added = new ArrayList<>();
        try {
            for (DocumentName name : names(command)) {
                if (subscriber.add(name)) {
                    added.add(name);
                }
                replies.add(confirmation("subscribe", name, subscriber));
            }
        } catch (RuntimeException refused) {
            added.forEach(subscriber::remove);
            throw refused;
        }
        return new Reply.Sequence(replies);
    }

    private static Reply unsubscribe(Session session, Command command) {
        Subscriber subscriber = session.subscriptions();
        Collection<DocumentName> names = command.size() == 1 ? subscriber.names() : names(command);
        if (names.isEmpty()) {
            return confirmation("unsubscribe", null, subscriber);
        }
        List<Reply> replies = new ArrayList<>();
        for (DocumentName name : names) {
            subscriber.remove(name);
            replies.add(confirmation("unsubscribe", name, subscriber));
        }
        return new Reply.Sequence(replies);
    }

    private static Reply confirmation(String what, @Nullable DocumentName name, Subscriber subscriber) {
        return Reply.Push.of(what, name == null ? null : name.toBytes(), subscriber.count());
    }

    private static List<DocumentName> names(Command command) {
        if (command.size() - 1 > KeyCommands.MAX_NAMES) {
            throw new CommandException("ERR " + command.shortText(0) + " takes at most " + KeyCommands.MAX_NAMES
                    + " channels at a time; name them in several commands");
        }
        return command.wordsFrom(1).stream().map(DocumentName::of).toList();
    }

    private static Reply publish(Channels channels, Session session, Command command) {
        DocumentName channel = ListCommands.name(command);
        CommandGate.require(session.principal(), Permission.WRITE, channel);
        return new Reply.Number(channels.publish(channel, command.word(2)));
    }
}
