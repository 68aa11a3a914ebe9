"""Words that are too common to mean the page with that title."""

from __future__ import annotations

EVERYDAY = frozenset(
    """
    a able about above accept access log across action actions active activity actually add added address after
    again against age agenda ago agree ahead all allow almost alone along already also although always am among amount
    an and animal another answer any anyone anything appear apply april archive are area around article articles as ask
    asset assets at attachments august author authors available away back backlog bad bank base basic basics be because
    become been before began begin behind being believe below best better between big bill birth blank block blog board
    body book bookmarks books both bottom box brand bring budget build building business but buy by calendar call called
    came can car care case cases category cause center central certain change changelog changes chapter check child
    children choice city claim class clear click client close code coding collection color come comes commands comment
    common community company complete concept concepts condition config configuration consider contact contacts contain
    content contents context continue control cooking copy cost could count country couple course cover create created
    current customer daily dashboard data date dates day days deal dear death december decide decision decisions deep
    default define definition demo department describe description design desk detail details develop diary did die
    difference different direction do docs document documentation documents does doing done door down draft drafts dream
    dreams drink drinks drive drop due during each early easy education effect effort eight either else email empty end
    energy enough entry error even event events ever every everyone everything example examples except exercise
    experience explain fact facts fail fall false family faq far fast father feature features february feel feelings few
    field figure file files fill final finally find fine finish fire first fitness five fix focus folder follow
    following food for force form format former forward found four free friday friend friends from front full function
    future game games garden gave general get give given glossary go goal goals goes going gone good great ground group
    groups grow growth guide had half hand happen hard hardware has have having he head health hear heart held hello
    help her here high him himself his history hold home hope hour hours house how however human idea ideas if image
    images important improve in inbox include increase index industry information inside install installation instead
    interest interesting into introduction is issue issues it item items its itself january job join journal july june
    just keep kept key keys kind kitchen knew know knowledge known land language large last late later law lead learn
    learning least leave led left legal less let letter letters level library license life light like likely line lines
    link links list lists little live living local log long longer look looking loss lost lot love low made mail main
    major make making man manage management many map march mark market material matter may maybe me mean meaning means
    media meeting meetings member members men method methods middle might mind minute minutes misc miscellaneous miss
    model models modern moment monday money month monthly months more morning most mother move movement movie movies
    much music must my name names nation natural nature near need needs network never new news next night nine no none
    nor normal north not note notes nothing notice november now number numbers october of off offer office often old on
    once one only open operation operations option options or order orders other others our out outside over overview
    own page pages paper papers parent part particular parts party pass past path pattern patterns pay peace people per
    percent perhaps period person personal phone photo photos physical pick picture piece place places plan plans plants
    play point points policy position possible post posts power practice present press price private probably problem
    problems process product production products professional program progress project projects property proposal
    provide public purpose push put quality quarterly question questions quick quickly quickstart quite quote quotes
    range rate rather read reader reading readme ready real really reason receive recent recipe recipes record red
    reference references reflection reflections related release remain remember reminder reminders report reports
    request requests require requirements research resource resources response rest result results return review reviews
    right role room rule rules run running safe safety said same saturday save saw say says school science scratch
    search season second section security see seem seen self sell send sense september series serious serve server
    service services set setting settings setup seven several shall share she shopping short should show side sign
    similar simple simply since single site sites situation six size sleep small so social software some someday someone
    something sometimes soon sort sound source sources south space special specific sport sports spring staff stage
    stand standard start started state statement status stay step steps still stop storage store stories story strategy
    street strong structure student study stuff style subject success such suggest summary summer sunday support sure
    system systems table tag tags take taken talk task tasks teach team technology teeth tell template templates ten
    term terms test testing tests text than thank that the their them themselves then theory there these they thing
    things think third this those though thought thoughts thousand three through throughout thursday thus time times
    tips title to today todo together told tomorrow tonight too took tool tools top topic topics total toward town track
    trade training travel treat tree trees tried trip troubleshooting true trust truth try tuesday turn tutorial two
    type types under understand unit until untitled up update updates upon us usage use used useful user users using
    usually value values various version very video view views visit voice wait walk wall want war was watch water way
    ways we weather web website wednesday week weekend weekly weeks welcome well went were west what when where whether
    which while white who whole whom whose why wide will window winter wish wishlist with within without woman women
    word words work working workout works world worth would write writing written wrong year yearly years yes yesterday
    yet you young your yours
    """.split()
)
